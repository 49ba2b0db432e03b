import { connect } from 'node:net';

/** Holds many reads or watches without the overhead of a client. Notifies its parent when all were answered with a text. */
const [url = '', path, apiKey, awaited = '', count = '0'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
let heard = 0;

function hold(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: muster\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`);
      resolve();
    });
    let text = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk;
      if (!text.includes(awaited)) return;
      text = '';
      if (++heard === Number(count)) process.send?.(heard);
    });
  });
}

for (let i = 0; i < Number(count); i += 100) await Promise.all(Array.from({ length: 100 }, hold));
