//go:build tools

// Package tools pins the programs that tests of the cluster run.
package tools

import _ "github.com/nats-io/nats-server/v2"
