/// A length as a style has it. Whole pixels are exact enough, and print in a fraction of the code.
pub fn px(length: f64) -> String {
    format!("{}px", length as i64)
}
