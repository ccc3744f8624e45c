// A plugin in Go, by the canonical ABI alone: `go build` makes a core module, `jco embed` and
// `jco new` make a component of that.
package main

import (
	"fmt"
	"os"
	"unicode/utf8"
	"unsafe"
)

// What the host has put into this memory, so that it is not collected.
var kept [][]uint64

// The name under which only what a function is called with is put here: WASI must not call
// into Go's runtime while that starts.
//
//go:wasmexport cabi_export_realloc
func realloc(_ unsafe.Pointer, _, _, size uint32) unsafe.Pointer {
	block := make([]uint64, size/8+1)
	kept = append(kept, block)
	return unsafe.Pointer(&block[0])
}

// `result<greeting, string>` as it lies in memory, where a pointer has four bytes.
type result struct {
	isError    uint32
	text       uint32
	textLength uint32
	length     uint32
}

var (
	answer result
	answered string
)

func answers(isError uint32, text string) unsafe.Pointer {
	answered = text
	answer = result{
		isError:    isError,
		text:       uint32(uintptr(unsafe.Pointer(unsafe.StringData(answered)))),
		textLength: uint32(len(answered)),
		length:     uint32(utf8.RuneCountInString(answered)),
	}
	return unsafe.Pointer(&answer)
}

//go:wasmexport greet
func greet(name unsafe.Pointer, length uint32) unsafe.Pointer {
	if length == 0 {
		return answers(1, "whom should I greet?")
	}
	fmt.Fprintln(os.Stderr, "greeting")
	return answers(0, fmt.Sprintf("Hello, %s, from Go", unsafe.String((*byte)(name), length)))
}

//go:wasmexport sum
func sum(numbers unsafe.Pointer, count uint32) int32 {
	total := int32(0)
	for _, number := range unsafe.Slice((*int32)(numbers), count) {
		total += number
	}
	return total
}

func main() {}
