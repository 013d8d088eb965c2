//! The allocator of the test binary: the system's, and it counts what each thread asks for.
#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one passes every call on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

/// A thread that is ending counts no more.
fn count(bytes: usize) {
    let _ended = BYTES.try_with(|all| all.set(all.get().wrapping_add(bytes)));
}

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is ours.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is ours.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise is ours.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What comes of it, and how many bytes this thread asked for meanwhile.
pub(crate) fn allocated_by<T>(act: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.get();
    let done = act();
    (done, BYTES.get().wrapping_sub(before))
}

#[test]
fn what_is_asked_for_is_counted() {
    let (buffer, bytes) = allocated_by(|| vec![0_u8; 1 << 20]);
    assert_eq!((buffer.len(), bytes), (1 << 20, 1 << 20));
    assert_eq!(allocated_by(|| buffer.len()).1, 0);
}
