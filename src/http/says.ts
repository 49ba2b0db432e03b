import type Joi from 'joi';

/** What Joi hands to `.error()` and takes back: more than its types tell. */
interface Report {
  readonly code: string;
  readonly local: { readonly label: string };
  message: string;
}

/**
 * Messages of a field by Joi's error codes, `{#label}` standing for its name; for `.error()`. Not `.messages()`: what
 * that sets is merged anew whenever the field is validated, which costs more than the validation.
 */
export function says(messages: Readonly<Record<string, string>>): Joi.ValidationErrorFunction {
  const explain = (reports: Report[]): Report[] => {
    for (const report of reports) {
      const message = messages[report.code];
      if (message !== undefined) report.message = message.replaceAll('{#label}', report.local.label);
    }
    return reports;
  };
  return explain as unknown as Joi.ValidationErrorFunction;
}
