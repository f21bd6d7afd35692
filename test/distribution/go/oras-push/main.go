// Publishes a folder in the layout of Agent Skills with another client than ours: oras-push FOLDER HOST/NAME TAG.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/memory"
	"oras.land/oras-go/v2/registry/remote"
)

const kind = "application/vnd.agentskills.skill."

func main() {
	folder, repository, tag := os.Args[1], os.Args[2], os.Args[3]
	name := filepath.Base(folder)
	config, err := json.Marshal(map[string]string{"name": name, "version": tag})
	check(err)
	ctx, store := context.Background(), memory.New()
	configured := put(ctx, store, kind+"config.v1+json", config)
	packed := put(ctx, store, kind+"content.v1.tar+gzip", archive(folder, name))
	options := oras.PackManifestOptions{ConfigDescriptor: &configured, Layers: []v1.Descriptor{packed}}
	manifest, err := oras.PackManifest(ctx, store, oras.PackManifestVersion1_1, kind+"v1", options)
	check(err)
	check(store.Tag(ctx, manifest, tag))
	target, err := remote.NewRepository(repository)
	check(err)
	target.PlainHTTP = true
	_, err = oras.Copy(ctx, store, tag, target, tag, oras.DefaultCopyOptions)
	check(err)
	os.Stdout.WriteString(manifest.Digest.String() + "\n")
}

func put(ctx context.Context, store *memory.Store, mediaType string, data []byte) v1.Descriptor {
	descriptor := content.NewDescriptorFromBytes(mediaType, data)
	check(store.Push(ctx, descriptor, bytes.NewReader(data)))
	return descriptor
}

// With entries for folders, which ours leave out.
func archive(folder, name string) []byte {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipped)
	check(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		check(err)
		info, err := entry.Info()
		check(err)
		header, err := tar.FileInfoHeader(info, "")
		check(err)
		relative, err := filepath.Rel(folder, path)
		check(err)
		header.Name = filepath.ToSlash(filepath.Join(name, relative))
		if entry.IsDir() {
			header.Name += "/"
			return writer.WriteHeader(header)
		}
		data, err := os.ReadFile(path)
		check(err)
		check(writer.WriteHeader(header))
		_, err = writer.Write(data)
		return err
	}))
	check(writer.Close())
	check(zipped.Close())
	return packed.Bytes()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
