// A registry in memory that has the referrers API. Serves on the address in its first argument.
package main

import (
	"io"
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	handler := registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
	log.Fatal(http.ListenAndServe(os.Args[1], handler))
}
