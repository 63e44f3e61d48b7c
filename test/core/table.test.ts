import { describe, expect, it } from 'vitest';
import { table } from '../../src/core/table.ts';
import { decidingPhases, waitingPhases } from '../../src/core/transition.ts';

const phases = [...waitingPhases, ...decidingPhases, 'ended'];

describe('a row', () => {
  it.each(table.map((row) => [row.name, row] as const))('%s says why it exists in whole sentences', (_name, row) => {
    expect(row.why).toMatch(/^[A-Z`][^]{15,}\.$/);
  });

  it.each(table.map((row) => [row.name, row] as const))('%s leads from phases to a phase', (_name, { arrow }) => {
    expect(arrow.from.length).toBeGreaterThan(0);
    for (const phase of arrow.from) expect(phases).toContain(phase);
    if (arrow.to !== null) expect(phases).toContain(arrow.to);
  });
});
