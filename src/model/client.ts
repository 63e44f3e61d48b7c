/** The client of the Messages API: the SDK as a transport, without its own retries. */
import Anthropic, { type ClientOptions as SdkOptions } from '@anthropic-ai/sdk';
import { hasProfile, readEnvironment } from './profile.ts';

export interface ClientOptions {
  /** Default: what the SDK's own credential chain finds (environment, profiles). */
  readonly apiKey?: string;
  /** Default: `ANTHROPIC_BASE_URL`, else the API itself. */
  readonly baseUrl?: string;
  /** Sends the requests instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Longest time that the SDK itself waits, in milliseconds: longer than any deadline of ours, which are the ones that count. */
const sdkTimeoutMs = 24 * 60 * 60 * 1_000;

/** Stands for a key where a server of one's own asks for none. */
const noKey = 'none';

/** Makes the SDK's client. Retries, deadlines and telemetry are off in it: the loop orders and counts every request. */
export function createClient(options: ClientOptions = {}): Anthropic {
  const { apiKey, baseUrl, fetch, headers } = options;
  const keyless = apiKey === undefined && !hasCredentials() && customBaseUrl(baseUrl) !== null;
  const key = keyless ? noKey : apiKey;
  const sdkOptions: SdkOptions = {
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    openTelemetry: false,
    logLevel: 'off',
    ...(key === undefined ? {} : { apiKey: key }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    ...(fetch === undefined ? {} : { fetch }),
    ...(headers === undefined ? {} : { defaultHeaders: { ...headers } }),
  };
  return new Anthropic(sdkOptions);
}

function customBaseUrl(baseUrl: string | undefined): string | null {
  return baseUrl ?? readEnvironment('ANTHROPIC_BASE_URL');
}

/** True when the SDK's credential chain finds a key, a token, a federation rule or a profile. Sends nothing. */
export function hasCredentials(): boolean {
  try {
    const client = new Anthropic({ maxRetries: 0, openTelemetry: false, logLevel: 'off' });
    return client.apiKey !== null || client.authToken !== null || hasProfile();
  } catch {
    // A profile that is named and cannot be read is a credential that is broken, not one that is absent.
    return true;
  }
}

/** True when requests go to a server that the caller named. */
export function hasBaseUrl(baseUrl?: string): boolean {
  return customBaseUrl(baseUrl) !== null;
}
