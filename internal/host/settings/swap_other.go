//go:build !linux && !darwin

package settings

import "errors"

// exchange is not available here.
func exchange(string, string) error { return errors.ErrUnsupported }
