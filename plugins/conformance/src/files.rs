//! The smallest files of their kinds.

/// Red pixel.
pub(crate) const PNG: &[u8] = include_bytes!("../assets/red.png");

/// Eight thousandths of a second of a tone.
pub(crate) const WAV: &[u8] = include_bytes!("../assets/beep.wav");
