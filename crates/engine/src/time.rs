/// The wall clock in milliseconds since the Unix epoch. It may jump, forwards after a sleep of the
/// machine and backwards when it is set right; code that uses it must survive both.
pub type Millis = u64;
