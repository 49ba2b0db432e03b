import type { Context, Step } from '../../doors/http/context.ts';
import { refusalOf } from '../../engine/call/refusal.ts';
import { Refusal } from '../../engine/redis/scripts.ts';
import { ApiError } from '../../engine/route/errors.ts';
import { text } from '../../engine/route/fields.ts';
import type { CallService } from '../../engine/route/service.ts';
import { answerPath } from '../../primitives/question/answer.ts';
import { readForm } from './form.ts';
import { type Linked, LinkedQuestion } from './linked-question.ts';
import { closedPage, donePage, formPage, wordsPage } from './page.ts';
import { pageHeaders } from './style.ts';
import { UnknownLinks } from './unknown.ts';

/** The route in logs and metrics, without the token. */
const route = `${answerPath}:token`;

interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const nameSchema = text(1, 256);

/** The pages on which people answer questions. The address of each is a link; no key is needed. */
export class AnswerPages {
  readonly #service: CallService;
  readonly #unknown = new UnknownLinks();

  constructor(service: CallService) {
    this.#service = service;
  }

  readonly pages: Step = async (ctx, next) => {
    if (!ctx.path.startsWith(answerPath)) return next();
    const { state } = ctx;
    state.route = route;
    state.log = state.log.child({ route });
    const page = await this.#page(ctx).catch((thrown) => this.#failed(thrown, ctx));
    state.answer = { status: page.status, headers: { ...pageHeaders, ...page.headers }, text: page.text };
  };

  async #page(ctx: Context): Promise<Page> {
    if (!['GET', 'HEAD', 'POST'].includes(ctx.method))
      throw new ApiError(405, 'METHOD_NOT_ALLOWED', 'This page can be read, and its form can be sent.', {
        Allow: 'GET, HEAD, POST',
      });
    const linked = LinkedQuestion.with(ctx.path.slice(answerPath.length), this.#service, ctx.state.requestId);
    if (!linked) return this.#nowhere(ctx);
    try {
      const seen = await linked.view();
      const closed = closedOf(seen);
      return closed ?? (ctx.method === 'POST' ? await answered(linked, seen, ctx) : open(seen));
    } catch (error) {
      if (error instanceof Refusal && error.code === 'INVALID_API_KEY') return this.#nowhere(ctx);
      throw error;
    }
  }

  /** The page for a link that leads to no question. */
  #nowhere({ state }: Context): Page {
    const isTooMany = this.#unknown.add();
    state.code = isTooMany ? 'RATE_LIMITED' : 'QUESTION_NOT_FOUND';
    this.#service.metrics.traffic.refusal(state.code);
    return isTooMany
      ? {
          status: 429,
          text: wordsPage('Too many unknown links', 'Try again in a moment.'),
          headers: { 'Retry-After': '1' },
        }
      : {
          status: 404,
          text: wordsPage(
            'This link leads to no question',
            'Check that you have opened all of it: its last part is long.',
          ),
        };
  }

  #failed(thrown: unknown, { state }: Context): Page {
    const { code, error, answer } = refusalOf(thrown, this.#service, { ...state, route });
    state.code = code;
    const { status } = answer;
    const retry = error.headers['Retry-After'];
    const headers = {
      ...(retry !== undefined && { 'Retry-After': retry }),
      ...('Allow' in error.headers && { Allow: error.headers['Allow'] ?? '' }),
    };
    return { status, headers, text: wordsPage(...words(status, error.message)) };
  }
}

function words(status: number, message: string): [title: string, text: string] {
  if (status === 429) return ['Too much is going on', 'Nothing was lost. Try again in a minute.'];
  if (status === 503) return ['Not available now', 'Nothing was lost. Try again in a moment.'];
  if (status >= 500)
    return ['Something went wrong', 'Try again. If it keeps happening, tell the person who sent you the link.'];
  return ['This did not work', message];
}

interface Seen {
  readonly linked: Linked;
  readonly now: number;
}

const open = ({ linked, now }: Seen, typed?: Parameters<typeof formPage>[2]): Page => ({
  status: typed ? 400 : 200,
  text: formPage(linked, now, typed),
});

/** The page of a question that is not OPEN, or that has expired but has not been swept yet. */
function closedOf({ linked: { question }, now }: Seen): Page | undefined {
  const isOver = question.state === 'OPEN' && Date.parse(question.expiresAt) <= now;
  if (question.state === 'OPEN' && !isOver) return undefined;
  return { status: 410, text: closedPage(isOver ? { ...question, state: 'EXPIRED' } : question) };
}

/** Submits the form's answer. */
async function answered(linked: LinkedQuestion, seen: Seen, ctx: Context): Promise<Page> {
  const form = await readForm(ctx.req);
  const { options } = seen.linked.question;
  const answer = (form.get('answer') ?? '').replaceAll('\r\n', '\n');
  const answeredBy = (form.get('answeredBy') ?? '').trim();
  const wrong = (mistake: string): Page => open(seen, { answer, answeredBy, mistake });
  if (nameSchema.validate(answeredBy).error) return wrong('Please say who answers, in at most 256 characters.');
  if (options ? !options.includes(answer) : answer === '')
    return wrong(options ? 'Please choose one of the answers.' : 'Please write an answer.');
  try {
    return { status: 200, text: donePage(await linked.answer(answer, answeredBy)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'PAYLOAD_TOO_LARGE')
      return { ...wrong('The answer is too long: please shorten it.'), status: 413 };
    if (error.code !== 'QUESTION_CLOSED') throw error;
    // Somebody else was faster. Or the run was cancelled, which may take a second to withdraw the question.
    const again = await linked.view();
    const state = error.detail as typeof again.linked.question.state;
    const question =
      again.linked.question.state === 'OPEN' ? { ...again.linked.question, state } : again.linked.question;
    return { status: 410, text: closedPage(question) };
  }
}
