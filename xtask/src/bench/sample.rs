//! Samples and their percentiles.

use std::time::Duration;

/// Times, or other numbers, of one thing under one condition.
#[derive(Debug, Default, Clone)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    pub(super) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Adds a time in milliseconds.
    pub(super) fn push_time(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    /// Returns the number of samples.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the value that this share of the samples does not exceed; not a number where there
    /// are none.
    pub(super) fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a list of a few thousand"
        )]
        let place = ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1);
        sorted.get(place).copied().unwrap_or(f64::NAN)
    }

    pub(super) fn median(&self) -> f64 {
        self.percentile(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn percentiles_are_samples() {
        let samples = Samples(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert!((samples.median() - 3.0).abs() < f64::EPSILON);
        assert!((samples.percentile(0.99) - 5.0).abs() < f64::EPSILON);
        assert!(Samples::default().median().is_nan());
    }
}
