//! Checks that the time of work grows no faster than its input.

use std::time::Duration;

/// Shortest time for which an input is worked on for one measurement.
const LEAST: Duration = Duration::from_millis(5);

/// Number of times that each measurement is made; the least time counts.
const TIMES: usize = 3;

/// Most attempts before growth that seems too fast is a failure: a virtual processor that is taken
/// away counts as CPU time, and one neighbour can spoil a whole measurement.
const ATTEMPTS: u32 = 10;

/// Time to wait after the first attempt that showed too much; later ones wait longer.
const REST: Duration = Duration::from_millis(500);

/// Largest ratio of the times of four times the input and of the input, on average of both steps.
/// Linear work takes four times as long, a bit more where it leaves the processor's caches;
/// quadratic work takes sixteen times as long.
const MOST: f64 = 8.0;

/// Largest ratio of these times in the last step alone. Quadratic work beside much that is linear
/// shows there first, and so do larger caches that are left.
const MOST_AT_LAST: f64 = 10.0;

/// Checks that work on four times the input takes at most 8 times as long, in CPU time of this
/// thread: on average of the two steps from `input(size)` over `input(4 * size)` to
/// `input(16 * size)`. The last step alone may take 10 times as long.
///
/// # Panics
/// It takes longer.
#[track_caller]
pub fn is_linear<I>(what: &str, size: usize, input: impl Fn(usize) -> I, work: impl Fn(&I)) {
    let time = |input: &I, rounds: u32| {
        let start = cpu_time();
        (0..rounds).for_each(|_| work(input));
        cpu_time().saturating_sub(start)
    };
    let least = |size: usize| {
        let input = input(size);
        let mut rounds = 1;
        // Also for caches, allocators and tables that are made once.
        while time(&input, rounds) < LEAST && rounds < 1 << 14 {
            rounds *= 2;
        }
        let times = (0..TIMES).map(|_| time(&input, rounds));
        times.min().unwrap_or_default().as_secs_f64() / f64::from(rounds)
    };
    let mut seen = [size, 4 * size, 16 * size].map(|size| (size, f64::MAX));
    for attempt in 1..=ATTEMPTS {
        seen = seen.map(|(size, time)| (size, time.min(least(size))));
        let [(_, small), (_, middle), (_, large)] = seen;
        let ratio = (large / small.max(1e-9)).sqrt();
        let last = large / middle.max(1e-9);
        let told = format!(
            "{what}: {size} take {small:.6} s, four times as many {middle:.6} s, sixteen times as \
             many {large:.6} s: {ratio:.1} times as long for each four times, {last:.1} for the last"
        );
        eprintln!("{told}");
        if ratio < MOST && last < MOST_AT_LAST {
            return;
        }
        assert!(attempt < ATTEMPTS, "{told}");
        std::thread::sleep(REST * attempt);
    }
}

/// Returns the CPU time of this thread, exact to less than a microsecond.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// Returns the time since the first call, on the clock.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::is_linear;

    #[test]
    fn linear_work_is_linear() {
        let numbers = |size| (0..size as u64).collect::<Vec<_>>();
        is_linear("a sum", 20_000, numbers, |numbers: &Vec<u64>| {
            std::hint::black_box(
                numbers
                    .iter()
                    .fold(1_u64, |a, b| std::hint::black_box(a * 31 + b)),
            );
        });
    }

    #[test]
    #[should_panic(expected = "times as long")]
    fn quadratic_work_is_not() {
        let numbers = |size| (0..size as u64).collect::<Vec<_>>();
        is_linear("pairs", 125, numbers, |numbers: &Vec<u64>| {
            for one in numbers {
                let found = numbers
                    .iter()
                    .position(|other| std::hint::black_box(other) == one);
                std::hint::black_box(found);
            }
        });
    }

    /// The average of both steps would let this pass.
    #[test]
    #[should_panic(expected = "for the last")]
    fn what_becomes_quadratic_at_last_is_not() {
        let numbers = |size| (0..size as u64).collect::<Vec<_>>();
        let linear = |numbers: &[u64]| {
            numbers
                .iter()
                .fold(1_u64, |a, b| std::hint::black_box(a * 31 + b))
        };
        is_linear("late pairs", 1_000, numbers, |numbers: &Vec<u64>| {
            // 1000, 4000 and 16000 numbers are looked at 20, 20 and 320 times.
            let times = 20 * (numbers.len() / 4_000).max(1).pow(2);
            for _ in 0..times {
                std::hint::black_box(linear(numbers));
            }
        });
    }
}
