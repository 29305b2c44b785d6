/// A random number in `[0, 1)`.
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// 64 random bits.
pub fn bits() -> u64 {
    u64::from_le_bytes(bytes())
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
