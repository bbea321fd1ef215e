// Package ui draws tables, the status line, the live screen and the HTML report. It gets values and a writer, and does not know the
// source of the values. It sanitizes text from outside right before it is shown.
package ui
