const emoji = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\uFE0F?';
const unseen = '[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Default_Ignorable_Code_Point}\\u2800\\uFFF9-\\uFFFB]';
const emojiOrUnseen = new RegExp(`(${emoji}(?:\\u200D${emoji})*)|(?![\\t\\n\\r])${unseen}`, 'gu');

/**
 * Shows hidden characters: a character that is invisible or changes the writing direction appears as `<U+202E>`. So a
 * name can neither look like another one nor reorder the text next to it. Joiners inside an emoji are kept.
 */
export function visible(text: string): string {
  return text.replace(emojiOrUnseen, (found, isEmoji?: string) => {
    if (isEmoji !== undefined) return found;
    return `<U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The same JSON, with hidden characters as escapes: for a terminal, which would obey them. */
export function escaped(json: string): string {
  return json.replace(emojiOrUnseen, (found, isEmoji?: string) => {
    if (isEmoji !== undefined) return found;
    return found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  });
}
