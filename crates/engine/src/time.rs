/// The wall clock in milliseconds since the Unix epoch. It may jump forwards after the machine has slept, and backwards
/// when it is set. Code that uses it must handle both.
pub type Millis = u64;
