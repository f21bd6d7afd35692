//go:build tools

// Programs of other projects that the tests run; naming them here pins their versions in go.mod.
package tools

import (
	_ "github.com/distribution/distribution/v3/cmd/registry"
	_ "github.com/google/go-containerregistry/cmd/crane"
)
