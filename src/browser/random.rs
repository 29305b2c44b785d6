use std::cell::RefCell;

/// A random number in `[0, 1)`.
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// 64 random bits.
pub fn bits() -> u64 {
    thread_local! {
        /// Drawn in advance: for each of a thousand seeds to ask the browser takes it a while.
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

/// A key that no other record has: 128 random bits as text.
pub fn key() -> String {
    format!("{:032x}", u128::from_le_bytes(bytes()))
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let filled = leptos::prelude::window()
        .crypto()
        .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes));
    if filled.is_err() {
        // No strong source: weak draws serve for seeds and keys.
        bytes.fill_with(|| (unit() * 256.0) as u8);
    }
    bytes
}
