/** What must hold of what the consumer saw, whatever the outside did. */
import type { Scenario } from './scenario.ts';
import type { SimulationResult } from './simulation-result.ts';

/** The laws that a simulated run broke towards its consumer, one sentence each. */
export function brokenPromises({ then = [] }: Scenario, result: SimulationResult): readonly string[] {
  // A process that died has shown things that the one after it shows again.
  const dies = then.some((next) => 'resume' in next);
  return dies ? idsLaw(result) : [...errorsLaw(result), ...tombstonesLaw(result), ...idsLaw(result)];
}

/** An error that nothing cured is shown exactly once, any other never. */
function errorsLaw({ emitted, terminals }: SimulationResult): readonly string[] {
  const errors = emitted.filter(({ type }) => type === 'error').length;
  const failures = terminals.filter(({ failure }) => failure !== null).length;
  return errors === failures ? [] : [`${errors} errors were shown, and ${failures} queries ended with one.`];
}

/** What was taken back is taken back once. */
function tombstonesLaw({ emitted }: SimulationResult): readonly string[] {
  const taken = emitted.flatMap((item) => (item.type === 'tombstone' ? [item.messageId] : []));
  return twice(taken).map((id) => `The message ${id} was taken back twice.`);
}

/** No message stands twice in the history, or in it and among those that wait. */
function idsLaw({ messages, queued }: SimulationResult): readonly string[] {
  return twice([...messages, ...queued].map(({ id }) => id)).map((id) => `The message ${id} is there twice.`);
}

function twice(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}
