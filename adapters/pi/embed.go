// Package pi holds the extension through which pi reaches ctxls.
package pi

import _ "embed"

// Extension is the extension's source, a module without dependencies.
//
//go:embed ctxls.js
var Extension []byte
