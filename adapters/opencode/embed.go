// Package opencode holds the plugin through which OpenCode reaches ctxls.
package opencode

import _ "embed"

// Plugin is the plugin's source, an ES module without dependencies.
//
//go:embed ctxls.js
var Plugin []byte
