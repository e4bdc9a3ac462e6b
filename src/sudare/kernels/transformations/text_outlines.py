"""Which bytes of a text are its normal form, found in one pass over many texts of ASCII."""

from __future__ import annotations

from sudare.kernels.compiled import kernel

AS_IT_IS, WITH_T, BY_HAND = 0, 1, 2
"""What is to be done to the bytes: nothing; write a T between date and time; something that is no part of the text."""
_DATE, _MINUTE, _SECOND = 10, 16, 19
"""The lengths of a date, and of a date with a time up to its minute or second."""


@kernel
def _is_blank(byte):
    """Return whether Python strips this byte off a text."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@kernel
def _is_digit(byte):
    return 48 <= byte <= 57


@kernel
def _has_shape(data, start, stop, marks):
    """Return whether digits and marks stand where they do in another text; there 0 stands for any digit."""
    if stop - start < len(marks):
        return False
    for at in range(len(marks)):
        byte = data[start + at]
        if marks[at] == 48:
            if not _is_digit(byte):
                return False
        elif byte != marks[at] and not (marks[at] == 84 and byte == 32):  # T, or a blank
            return False
    return True


@kernel
def _number_end(data, start, stop):
    """Return where a number ends without the zeros behind its fraction; -1 if it is no plain number.

    A number that cannot be written as a part of itself, such as .5 or -0, gives -2.
    """
    first = start + 1 if data[start] == 45 else start
    point = -1
    for at in range(first, stop):
        if data[at] == 46:
            if point >= 0:
                return -1
            point = at
        elif not _is_digit(data[at]):
            return -1
    whole = (point if point >= 0 else stop) - first
    if stop - first - (point >= 0) == 0 or (whole > 1 and data[first] == 48):
        return -1  # no digit, or a code with leading zeros
    end = stop
    if point >= 0:
        while data[end - 1] == 48:
            end -= 1
        if end - 1 == point:
            end = point
    if whole == 0 or (first > start and end - first == 1 and data[first] == 48):
        return -2
    return end


@kernel
def outline(offsets, data, nulls, marks, starts, stops, work):
    """Find where the normal form of each text starts and stops, and what is to be done to these bytes.

    ``marks`` is the shape of a date with a time. Returns whether any text differs from its normal form.
    """
    changed = False
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        what = 0
        if not nulls[row]:
            while start < stop and _is_blank(data[start]):
                start += 1
            while stop > start and _is_blank(data[stop - 1]):
                stop -= 1
            if stop - start >= _MINUTE and _has_shape(data, start, stop, marks[:_MINUTE]):
                what = BY_HAND
                if _has_shape(data, start, stop, marks):
                    end = stop
                    if stop - start > _SECOND + 1 and data[start + _SECOND] == 46:
                        at = start + _SECOND + 1
                        while at < stop and _is_digit(data[at]):
                            at += 1
                        if at == stop:  # a fraction, which loses its last zeros
                            while data[end - 1] == 48:
                                end -= 1
                            if data[end - 1] == 46:
                                end -= 1
                            what = WITH_T
                    elif stop - start == _SECOND:
                        what = WITH_T
                    if what == WITH_T:
                        stop = end
                        if end - start == _SECOND:
                            zero = True
                            for at in range(start + _DATE + 1, end):
                                zero = zero and (data[at] == 48 or data[at] == 58)
                            if zero:  # midnight
                                stop, what = start + _DATE, AS_IT_IS
                        if what == WITH_T and data[start + _DATE] == 84:
                            what = AS_IT_IS
            elif stop > start and (data[start] == 45 or data[start] == 46 or _is_digit(data[start])):
                end = _number_end(data, start, stop)
                if end == -2:
                    what = BY_HAND
                elif end >= 0:
                    stop = end
        starts[row], stops[row], work[row] = start, stop, what
        changed = changed or what != AS_IT_IS or start != offsets[row] or stop != offsets[row + 1]
    return changed


@kernel
def copy_outlines(data, starts, stops, work, ends, result):
    """Copy these bytes one text behind the other; ``ends`` are where they end in ``result``."""
    place = 0
    for row in range(len(starts)):
        begin = place
        for at in range(starts[row], stops[row]):
            result[place] = data[at]
            place += 1
        if work[row] == WITH_T:
            result[begin + _DATE] = 84
        ends[row + 1] = place
