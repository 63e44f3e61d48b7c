/** The small repository of the demo, as text: a null-pointer bug on line 42 of `src/auth/validate.ts`. */

const validate = `/** Who may do what. Sessions name a user; users have roles. */
import { findUser, type User } from './users.ts';

export type Role = 'reader' | 'writer' | 'admin';

export type Verdict = { readonly user: string; readonly role: Role } | { readonly error: string };

/** What a session knows of the person behind it; nobody has signed in while \`userId\` is null. */
export interface Session {
  readonly userId: string | null;
}

const ranks: Readonly<Record<Role, number>> = { reader: 1, writer: 2, admin: 3 };

/** True when \`role\` may do what \`needed\` may do. */
export function covers(role: Role, needed: Role): boolean {
  return ranks[role] >= ranks[needed];
}

/**
 * The user with that id. Ids are not case-sensitive, since people type them
 * as they like.
 */
function getUser(userId: string): User | undefined {
  return findUser(userId.toLowerCase());
}

/** Says why somebody is turned away. */
function refusal(user: User, needed: Role): Verdict {
  return { error: \`\${user.id} is a \${user.role}, and this takes a \${needed}\` };
}

/**
 * Checks a session against the role that a request needs.
 *
 * Returns the user and the role, or an error that says why not.
 * It never throws: callers answer the request with whatever comes back.
 */
export function validate(session: Session, needed: Role): Verdict {
  // The session store is typed loosely, so the id comes as a plain value.
  const userId = session.userId as string;
  const user = getUser(userId)
  if (!user) return { error: 'unknown user' };
  return covers(user.role, needed) ? { user: user.id, role: user.role } : refusal(user, needed);
}
`;

const users = `export interface User {
  readonly id: string;
  readonly role: 'reader' | 'writer' | 'admin';
}

const users: readonly User[] = [
  { id: 'ada', role: 'admin' },
  { id: 'bob', role: 'reader' },
];

export function findUser(id: string): User | undefined {
  return users.find((user) => user.id === id);
}
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate } from '../src/auth/validate.ts';

test('lets a user with the role pass', () => {
  assert.deepEqual(validate({ userId: 'Ada' }, 'writer'), { user: 'ada', role: 'admin' });
});

test('turns away a user without the role', () => {
  assert.deepEqual(validate({ userId: 'bob' }, 'writer'), { error: 'bob is a reader, and this takes a writer' });
});

test('turns away a session without a user', () => {
  assert.deepEqual(validate({ userId: null }, 'reader'), { error: 'unauthorized' });
});
`;

/** Path and content of each file. */
export const demoFiles: Readonly<Record<string, string>> = {
  'package.json':
    '{\n  "name": "auth",\n  "private": true,\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  'src/auth/users.ts': users,
  'src/auth/validate.ts': validate,
  'test/validate.test.ts': test,
};

/** The file with the bug. */
export const buggyFile = 'src/auth/validate.ts';
