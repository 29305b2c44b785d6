/// A random number in `[0, 1)`.
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// 64 random bits.
pub fn bits() -> u64 {
    let mut bytes = [0; 8];
    let filled = leptos::prelude::window()
        .crypto()
        .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes));
    if filled.is_err() {
        // No strong source: two weak draws serve for seeds and keys.
        return ((unit() * 4_294_967_296.0) as u64) << 32 | (unit() * 4_294_967_296.0) as u64;
    }
    u64::from_le_bytes(bytes)
}

/// A key that no other record has: 128 random bits as text.
pub fn key() -> String {
    format!("{:016x}{:016x}", bits(), bits())
}
