/// A time of the wall clock in milliseconds since the Unix epoch. The clock may jump forwards after the machine has
/// slept, and backwards when it is set. Code must handle both.
pub type Millis = u64;
