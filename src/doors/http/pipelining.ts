import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Concurrent requests per connection. */
const maxRunning = 16;

interface Pipeline {
  readonly running: Set<ServerResponse>;
  /** Requests not yet started, in order. */
  readonly waiting: [IncomingMessage, ServerResponse][];
}

/**
 * Limits pipelining. Node starts all requests in a chunk it reads (up to 64 KiB) at once. Here requests beyond
 * `maxRunning` wait, and the connection is not read while any waits. Node writes the answers in order.
 */
export function inTurn(listener: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();

  function pipelineOf(socket: Socket): Pipeline {
    const pipeline: Pipeline = { running: new Set(), waiting: [] };
    pipelines.set(socket, pipeline);
    // Node emits 'close' only for the response that it is writing, not for those behind it.
    socket.once('close', () => {
      pipeline.waiting.length = 0;
      for (const response of [...pipeline.running]) if (!response.socket) response.emit('close');
    });
    // Node resumes the connection to read a body or to skip the rest of one.
    socket.on('resume', () => {
      if (pipeline.waiting.length > 0) socket.pause();
    });
    return pipeline;
  }

  function start(pipeline: Pipeline, request: IncomingMessage, response: ServerResponse): void {
    pipeline.running.add(response);
    response.on('close', ended);
    listener(request, response);
  }

  // One function for all responses: a closure for each would double the cost of the listener.
  function ended(this: ServerResponse): void {
    const { socket } = this.req;
    const pipeline = pipelines.get(socket);
    if (!pipeline) return;
    pipeline.running.delete(this);
    if (socket.destroyed) pipeline.waiting.length = 0;
    const next = pipeline.waiting.shift();
    if (!next) return;
    if (pipeline.waiting.length === 0) socket.resume();
    start(pipeline, ...next);
  }

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const pipeline = pipelines.get(socket) ?? pipelineOf(socket);
    if (pipeline.running.size < maxRunning) start(pipeline, request, response);
    else {
      pipeline.waiting.push([request, response]);
      socket.pause();
    }
  };
}
