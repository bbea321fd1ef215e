// Package shared has what the packages of hosts need of the system: files are opened so that no host fails to replace them meanwhile, and
// processes are told apart.
package shared

import (
	"io"
)

// ReadFile is os.ReadFile by Open.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
