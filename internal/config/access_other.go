//go:build !unix

package config

import "os"

// openNonblock is for systems with FIFOs in the file system.
const openNonblock = 0

// foreign is always false: without Unix owners, the system's access lists decide who may write beside a workspace.
func foreign(os.FileInfo) bool { return false }
