//! How a peer combines its value with the messages of a listed step.

/// One step at one peer: `out` = own · value + Σ weight · message, messages in ascending order of their senders.
///
/// # Definition
/// Per coordinate, in exactly this order: y = own · x, then y = y + w · m for every message. An `own` of 0 means that the
/// own value is absent: then the first message begins the sum, y = w₁ · m₁. So a weight of 1 hands a message on with
/// its very bits (1 · m = m, and no 0 · x that could be NaN or turn −0 into 0). Nothing at all gives 0.
///
/// Coordinates never meet, so any cutting into tiles gives the same bits: peers call this on whole blocks, the
/// lockstep engine on tiles.
///
/// # Panics
/// If slices differ in length.
#[inline]
pub fn fold<'a>(
    own: f64,
    value: &[f64],
    messages: impl IntoIterator<Item = (f64, &'a [f64])>,
    out: &mut [f64],
) {
    let shape = "blocks of one shape";
    assert_eq!(value.len(), out.len(), "{shape}");
    let mut messages = messages.into_iter();
    let begin = |(factor, x): (f64, &[f64]), out: &mut [f64]| {
        assert_eq!(x.len(), out.len(), "{shape}");
        for (out, x) in out.iter_mut().zip(x) {
            *out = factor * x;
        }
    };
    if own != 0.0 {
        begin((own, value), out);
    } else if let Some(first) = messages.next() {
        begin(first, out);
    } else {
        out.fill(0.0);
    }
    for (weight, message) in messages {
        assert_eq!(message.len(), out.len(), "{shape}");
        for (out, x) in out.iter_mut().zip(message) {
            *out += weight * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_own_value_then_messages_and_an_absent_value_leaves_no_trace() {
        let (big, small) = (1e16, 1.0);
        let mut out = [0.0];
        fold(1.0, &[big], [(1.0, &[small][..]), (1.0, &[-big])], &mut out);
        assert_eq!(out, [(big + small) - big]);
        fold(1.0, &[big], [(1.0, &[-big][..]), (1.0, &[small])], &mut out);
        assert_eq!(out, [1.0]);
        fold(0.0, &[f64::NAN], [(1.0, &[-0.0][..])], &mut out);
        assert_eq!(out[0].to_bits(), (-0.0_f64).to_bits());
        fold(0.0, &[3.0], [], &mut out);
        assert_eq!(out, [0.0]);
        fold(0.5, &[3.0], [(2.0, &[4.0][..])], &mut out);
        assert_eq!(out, [9.5]);
    }
}
