/** Whether anybody listens at the address that was given: a loop that asks again for minutes is no answer to a typo. */
import { connect } from 'node:net';
import type { CliIo } from './io.ts';

/** How long a server may take to accept a connection, in milliseconds; a slower one is the loop's to wait for. */
const patienceMs = 3_000;

const faults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nobody listens at',
  ENOTFOUND: 'No host is known for',
  EHOSTUNREACH: 'There is no way to the host of',
  ENETUNREACH: 'There is no way to the network of',
};

/** Why nobody can be reached at an address, a valid URL, in one sentence; null when somebody listens, or nobody can tell. */
export async function whyUnreachable(address: string, env: CliIo['env']): Promise<string | null> {
  // Behind a proxy a connection of our own says nothing.
  if (usesProxy(env)) return null;
  const fault = faults[(await connectionFault(new URL(address))) ?? ''];
  return fault === undefined ? null : `${fault} ${address}: start the server, or name another with --base-url.`;
}

function usesProxy(env: CliIo['env']): boolean {
  return env['NODE_USE_ENV_PROXY'] === '1' || (env['NODE_OPTIONS'] ?? '').includes('--use-env-proxy');
}

/** The code of the error that a connection meets; null when there is none. */
function connectionFault({ hostname, port, protocol }: URL): Promise<string | null> {
  const socket = connect({
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  });
  return new Promise((resolve) => {
    const settle = (code: string | null): void => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(patienceMs, () => settle(null));
    socket.once('connect', () => settle(null));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? null));
  });
}
