/** JSON text that is put into an answer unchanged. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
