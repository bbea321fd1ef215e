// Package ui draws what people look at in a terminal. It is given values and a writer and knows nothing of where they come
// from. Text that came from outside is sanitised here, at the last place before the screen.
package ui
