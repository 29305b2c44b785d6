use std::cell::RefCell;

/// Returns a random number in `[0, 1)`.
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// Returns 64 random bits.
pub fn bits() -> u64 {
    thread_local! {
        /// Drawn in advance, because a call to the browser for each of a thousand seeds is slow.
        static DRAWN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }
    DRAWN.with_borrow_mut(|drawn| {
        if drawn.is_empty() {
            let bytes: [u8; 1_024] = bytes();
            let (words, _) = bytes.as_chunks();
            drawn.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        }
        drawn.pop().unwrap_or_default()
    })
}

/// Returns a unique key: 128 random bits as text.
pub fn key() -> String {
    format!("{:032x}", u128::from_le_bytes(bytes()))
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let filled = leptos::prelude::window()
        .crypto()
        .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes));
    if filled.is_err() {
        // Without a cryptographic source, weak random numbers are enough for seeds and keys.
        bytes.fill_with(|| (unit() * 256.0) as u8);
    }
    bytes
}
