import { fitsText, matching } from '../../engine/route/fields.ts';

/** More puts than any scope reaches, and the largest number of digits that a query accepts. */
export const maxVersion = 999_999_999_999_999;
export const maxKey = 256;

/** URLs drop `.` and `..` as parts of a path, so they cannot be keys. */
export const noteKey = matching(
  (value) => value !== '.' && value !== '..' && fitsText(value, 1, maxKey),
  `must be a string of 1 to ${maxKey} characters, without control characters, and neither . nor ..`,
  { minLength: 1, maxLength: maxKey },
);
