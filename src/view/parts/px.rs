/// Returns a length in px as a CSS value. It is rounded to whole pixels, because formatting integers needs much less code.
pub fn px(length: f64) -> String {
    format!("{}px", length as i64)
}
