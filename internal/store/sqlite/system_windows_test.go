package sqlite

import "testing"

func setUmask(*testing.T, int) {}
