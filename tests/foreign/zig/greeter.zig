// A plugin in Zig, by the canonical ABI alone: `zig` makes a core module, `jco embed` and
// `jco new` make a component of that.

const std = @import("std");

// Each call has a fresh instance, so that nothing need be given back.
var heap: [64 << 10]u8 align(16) = undefined;
var used: usize = 0;

// The name under which only what a function is called with is put here, and not what WASI wants.
export fn cabi_export_realloc(_: ?[*]u8, _: usize, alignment: usize, size: usize) [*]u8 {
    const start = std.mem.alignForward(usize, used, alignment);
    if (start + size > heap.len) @trap();
    used = start + size;
    return heap[start..].ptr;
}

// `result<greeting, string>` as it lies in memory.
const Result = extern struct {
    is_error: u8,
    text: [*]const u8,
    text_length: usize,
    length: u32,
};

var result: Result = undefined;
var text: [4096]u8 = undefined;

export fn greet(name: [*]const u8, name_length: usize) *const Result {
    if (name_length == 0) {
        const why = "whom should I greet?";
        result = .{ .is_error = 1, .text = why.ptr, .text_length = why.len, .length = 0 };
        return &result;
    }
    std.debug.print("greeting\n", .{});
    const greeting = std.fmt.bufPrint(&text, "Hello, {s}, from Zig", .{name[0..name_length]}) catch @trap();
    const length = std.unicode.utf8CountCodepoints(greeting) catch @trap();
    result = .{ .is_error = 0, .text = greeting.ptr, .text_length = greeting.len, .length = @intCast(length) };
    return &result;
}

export fn sum(numbers: [*]const i32, count: usize) i32 {
    var total: i32 = 0;
    for (numbers[0..count]) |number| total += number;
    return total;
}
