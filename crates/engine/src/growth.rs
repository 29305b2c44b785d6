//! Measures, for tests, how the time that work takes grows with what it is given. A bound in milliseconds would say
//! nothing of a build without optimisation, and be missed on a machine that is busy with something else.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The number of parts in which the work is done, to compare with all of it at once.
const PARTS: usize = 4;

/// All at once takes as long as in parts where time is in proportion, and so many times as long where it
/// grows with the square.
const MAX_RATIO: f64 = 2.0;

/// The fastest of so many counts: whatever else the machine does only adds to it.
const ATTEMPTS: usize = 200;

/// One count alone may have been held up.
const MIN_ATTEMPTS: usize = 3;

/// Too little to be measured; what grows with the square takes longer.
const NOTHING: Duration = Duration::from_micros(200);

/// Whether the work for four times the size takes no longer than four times the work for the size: both
/// last about as long, so that a busy machine disturbs both alike. What `prepare` does itself is not
/// counted.
pub(crate) fn assert_linear<W: FnMut() -> R, R>(size: usize, prepare: impl Fn(usize) -> W) {
    let (mut part, mut whole) = (prepare(size), prepare(PARTS * size));
    let mut best = [Duration::MAX; 2];
    for attempt in 1..=ATTEMPTS {
        best[0] = best[0].min(time(PARTS, &mut part));
        best[1] = best[1].min(time(1, &mut whole));
        let is_linear = best[1] <= best[0].mul_f64(MAX_RATIO) || best[1] < NOTHING;
        if attempt >= MIN_ATTEMPTS && is_linear {
            return;
        }
    }
    panic!("in {PARTS} parts and at once it takes {best:?}");
}

fn time<R>(times: usize, work: &mut impl FnMut() -> R) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed()
}

#[test]
fn what_grows_with_the_square_is_noticed() {
    let pairs = |size: usize| {
        move || {
            let others = |a: usize| (0..size).filter(|b| a != *b).count();
            (0..size).map(others).max()
        }
    };
    assert!(std::panic::catch_unwind(|| assert_linear(200, pairs)).is_err());
    assert_linear(20_000, |size| {
        move || (0..size).filter(|n| n % 3 == 0).count()
    });
}
