/**
 * How far the estimate of tokens is off, by kind of text. Anthropic publishes no tokenizer of its current models, so the
 * reference is a stand-in: the `claude` table of `ai-tokenizer`, which is that of older models, times 1.3, since newer
 * models count about 30 % more tokens for the same text.
 */
import { fileURLToPath } from 'node:url';
import { Tokenizer } from 'ai-tokenizer';
import * as claude from 'ai-tokenizer/encoding/claude';
import { estimateText, learnRatio } from '../../src/core/context/tokens.ts';
import { corpus, kinds, type Sample } from './corpus.ts';

/** Tokens of the newer models for each of the older ones. */
const newerModels = 1.3;

interface Measured extends Sample {
  readonly reference: number;
  readonly estimate: number;
  /** The factor that a session has learnt which has read every other sample. */
  readonly ratio: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Every sample with its tokens. */
function measureCorpus(): readonly Measured[] {
  const tokenizer = new Tokenizer(claude);
  const counted = corpus().map((sample) => ({
    ...sample,
    reference: tokenizer.count(sample.text) * newerModels,
    estimate: estimateText(sample.text),
  }));
  const estimates = sum(counted.map(({ estimate }) => estimate));
  const references = sum(counted.map(({ reference }) => reference));
  return counted.map((sample) => ({
    ...sample,
    ratio: learnRatio(1, estimates - sample.estimate, references - sample.reference),
  }));
}

/** Errors as shares of the reference: above 0 is too high. */
function cells(errors: readonly number[]): string {
  const shares = [sum(errors) / errors.length, Math.min(...errors), Math.max(...errors)];
  return shares.map((share) => percent(Math.round(share * 100))).join(' | ');
}

function percent(share: number): string {
  return share === 0 ? '0 %' : `${share < 0 ? '−' : '+'}${Math.abs(share)} %`;
}

function row(name: string, samples: readonly Measured[]): string {
  const plain = samples.map(({ estimate, reference }) => estimate / reference - 1);
  const learnt = samples.map(({ estimate, reference, ratio }) => (estimate * ratio) / reference - 1);
  return `| ${name} | ${samples.length} | ${cells(plain)} | ${cells(learnt)} |`;
}

/** The table of `docs/token-count.md`. */
export function errorTable(): string {
  const measured = measureCorpus();
  return [
    '| kind of text | samples | mean | lowest | highest | mean, learnt | lowest, learnt | highest, learnt |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...kinds.map((kind) =>
      row(
        kind,
        measured.filter((sample) => sample.kind === kind),
      ),
    ),
    row('all', measured),
  ].join('\n');
}

function everySample(): string {
  const line = ({ kind, name, text, reference, estimate }: Measured): string => {
    const off = `${((estimate / reference - 1) * 100).toFixed(0)} %`;
    return [kind.padEnd(14), name.padEnd(24), String(text.length).padStart(7), off.padStart(6)].join(' ');
  };
  return measureCorpus().map(line).join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${everySample()}\n\n${errorTable()}\n`);
}
