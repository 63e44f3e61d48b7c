/** A command line taken apart by a shell parser: every command that it could run, each by itself. */
import { type Command, forEachChild, parse, type Redirection, type SyntaxNode } from 'unbash';
import { innerCommands, isCarrier } from './inner-commands.ts';
import { isHarmlessVariable, isLoopVariable, whyExact } from './risky.ts';
import { baseName, fixedWord, readWord, type ShellWord } from './shell-word.ts';

/** One command in a line. */
export interface ShellPart {
  readonly words: readonly ShellWord[];
  /**
   * What an allow rule has to say of it. `rule`: any rule will do. `exact`: only one without `*`. `company`: none, as
   * long as something else in the line has one. `none`: what it runs is a part of its own.
   */
  readonly need: 'rule' | 'exact' | 'company' | 'none';
}

/** A file that the shell itself opens. */
interface Redirected {
  readonly word: ShellWord;
  readonly access: 'read' | 'write';
}

/** What is known of a command line. */
export interface ShellReading {
  readonly parts: readonly ShellPart[];
  readonly redirected: readonly Redirected[];
  /** Folders that `cd` goes to, in order; null for one that is not known before. */
  readonly folders: readonly (string | null)[];
  /** Why the line must be asked, whatever allow rules say: each a few words. */
  readonly doubts: readonly string[];
  /** True when it may run something that is not in `parts`: then no deny rule can be ruled out. */
  readonly isHidden: boolean;
}

/** Longest command line that is looked at, in characters: more than anybody reads at a prompt. */
const longest = 10_000;
/** How deep scripts may stand in scripts (`sh -c "sh -c ..."`). */
const deepest = 6;
/** Most commands in one line. */
const mostParts = 500;

/** Characters that a person does not see, or that turn what they see around; blanks that are none to a shell. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]|(?! )\p{Zs}/u;
/** What a command's name is made of. */
const plainName = /^[A-Za-z0-9_./+@%~,:[\]-]+$/;
const quiet = new Set(': true false pwd [ test exit return break continue wait'.split(' '));
const movers = new Set(['cd', 'pushd', 'popd']);
/** Builtins that evaluate subscripts in their arguments. */
const evaluating = new Set(
  'printf read unset declare typeset export local readonly mapfile readarray test [ wait'.split(' '),
);
const numericTest = /^-(?:eq|ne|lt|le|gt|ge|v|R)$/;

/** Takes a command line apart. Never throws; what cannot be read is a doubt. */
export function readShell(command: string): ShellReading {
  const reader = new Reader();
  if (command.length > longest) reader.hide(`it is longer than ${longest} characters`);
  else reader.read(command, 0);
  return reader.reading();
}

class Reader {
  readonly #parts: ShellPart[] = [];
  readonly #redirected: Redirected[] = [];
  readonly #folders: (string | null)[] = [];
  readonly #doubts = new Set<string>();
  #isHidden = false;

  reading(): ShellReading {
    if (this.#parts.length > mostParts) this.hide(`it has more than ${mostParts} commands`);
    return {
      parts: this.#parts.slice(0, mostParts),
      redirected: this.#redirected,
      folders: this.#folders,
      doubts: [...this.#doubts],
      isHidden: this.#isHidden,
    };
  }

  /** It must be asked, and may run something that nobody sees. */
  hide(doubt: string): void {
    this.#doubts.add(doubt);
    this.#isHidden = true;
  }

  read(text: string, depth: number): void {
    if (unseen.test(text.replace(/[\t\n]/g, ' '))) this.hide('it holds characters that cannot be seen');
    if (depth > deepest || this.#parts.length > mostParts) return this.hide('commands stand too deep in commands');
    try {
      const script = parse(text);
      // The parser passes over an open parenthesis at the end; here-documents stand behind their statement.
      const rest = text.slice(script.commands.at(-1)?.end ?? 0);
      if (!text.includes('<<') && !/^(?:[\s;&]|#.*)*$/.test(rest)) this.hide('the shell parser cannot read it');
      this.#visit(script, depth);
    } catch {
      this.hide('the shell parser cannot read it');
    }
  }

  #visit(node: SyntaxNode, depth: number): void {
    this.#look(node, depth);
    forEachChild(node, (child) => this.#visit(child, depth));
  }

  #look(node: SyntaxNode, depth: number): void {
    switch (node.type) {
      case 'Script':
        if ((node.errors?.length ?? 0) > 0) this.hide('the shell parser cannot read it');
        return;
      case 'Command':
        return this.#command(node, depth);
      case 'Redirect':
      case 'HereString':
      case 'HereDoc':
        return this.#redirection(node);
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        if (node.script === undefined) this.hide('the shell parser cannot read it');
        return;
      case 'For':
      case 'Select':
        if (!isLoopVariable(node.name.value)) this.#doubts.add(`it sets ${node.name.value}`);
        return;
      default:
        return this.#evaluation(node);
    }
  }

  /** Places where the shell evaluates the content of variables once more, and runs what stands in it. */
  #evaluation(node: SyntaxNode): void {
    const isNumber = (text: string): boolean => /^(?:\d+|[@*]|)$/.test(text.trim());
    if (node.type === 'ArithmeticWord' && !isNumber(node.value)) this.hide('it calculates with variables');
    if (node.type === 'Transform') this.hide('it expands what a variable holds');
    if (
      node.type === 'ParameterExpansion' &&
      (node.prefix === '!' || (node.index !== undefined && !isNumber(node.index.value)))
    )
      this.hide('it expands what a variable holds');
    if (node.type === 'Assignment' && node.index !== undefined && !isNumber(node.index.value))
      this.hide('it calculates with variables');
    if (node.type === 'TestUnary' && numericTest.test(node.operator)) this.hide('it calculates with variables');
    if (
      node.type === 'TestBinary' &&
      numericTest.test(node.operator) &&
      !(isNumber(node.left.value) && isNumber(node.right.value))
    )
      this.hide('it calculates with variables');
  }

  #command(node: Command, depth: number): void {
    const set = node.prefix.filter((part) => part.type === 'Assignment');
    const words = node.name === undefined ? [] : [node.name, ...node.args].map(wordOf);
    const isHarmless = words.length === 0 ? isLoopVariable : isHarmlessVariable;
    for (const { name } of set) if (!isHarmless(name)) this.#doubts.add(`it sets ${name}`);
    if (words.length > 0)
      this.#part(
        words,
        node.redirects.map(fedText).filter((text) => text !== undefined),
        depth,
      );
  }

  #part(words: readonly ShellWord[], fed: readonly (string | null)[], depth: number): void {
    if (depth > deepest || this.#parts.length > mostParts) return this.hide('commands stand too deep in commands');
    const [first] = words;
    const name = first?.value ?? null;
    const doubt = doubtOfName(first);
    if (doubt !== null) this.hide(doubt);
    if (movers.has(name ?? '')) this.#folders.push(folderOf(words));
    if (name === 'let') this.hide('it calculates with variables');
    if (evaluating.has(name ?? '') && words.some(({ value }) => /\[.*[$`]/s.test(value ?? ''))) {
      this.hide('it calculates with variables');
    }
    const inner = innerCommands(words, fed);
    if (inner.doubt !== null) this.hide(inner.doubt);
    this.#parts.push({ words, need: needOf(words, inner.passesOn) });
    for (const command of inner.commands) this.#part(command, fed, depth + 1);
    for (const script of inner.scripts) this.read(script, depth + 1);
  }

  #redirection(node: Redirection): void {
    if (node.type === 'HereDoc' && node.closing === undefined) this.hide('a here-document has no end');
    if (node.type !== 'Redirect') return;
    if (node.target === undefined) return this.hide('the shell parser cannot read it');
    const word = readWord(node.target);
    const isCopy = node.operator === '<&' || node.operator === '>&';
    if (isCopy && /^(?:\d+-?|-)$/.test(word.value ?? '')) return;
    this.#redirected.push({ word, access: node.operator === '<' || node.operator === '<&' ? 'read' : 'write' });
  }
}

/** An argument of the form `NAME=value` counts as the word that it is. */
function wordOf(node: Command['args'][number] | NonNullable<Command['name']>): ShellWord {
  if (node.type === 'Word') return readWord(node);
  const value = node.value.type === 'Word' ? readWord(node.value) : null;
  const head = node.text.slice(0, node.text.indexOf('=') + 1);
  if (value === null) return { source: node.text, value: null, shape: [head, null], disguised: false };
  const text = value.value === null ? null : head + value.value;
  return { source: node.text, value: text, shape: [head, ...value.shape], disguised: value.disguised };
}

/** What a command is given to read in the line itself: the text, null when it is not fixed, undefined for anything else. */
function fedText(node: Redirection): string | null | undefined {
  if (node.type === 'HereString') return node.target === undefined ? null : readWord(node.target).value;
  if (node.type !== 'HereDoc') return undefined;
  const isFixed = node.delimiter?.quoted === true || (node.body.parts?.every(({ type }) => type === 'Literal') ?? true);
  return isFixed ? node.body.text : null;
}

function doubtOfName(word: ShellWord | undefined): string | null {
  if (word === undefined || word.value === null)
    return `the name of the command ${word?.source ?? ''} is not known before`;
  if (word.disguised || !plainName.test(word.value))
    return `the name of the command ${word.source} is not written plainly`;
  return null;
}

function needOf(words: readonly ShellWord[], passesOn: boolean): ShellPart['need'] {
  const name = words[0]?.value ?? '';
  if (passesOn) return 'none';
  if (whyExact(words) !== null) return 'exact';
  return quiet.has(name) || movers.has(name) ? 'company' : 'rule';
}

/** Where `cd` goes; null where that is not known: no folder, `-`, options, a variable. */
function folderOf(words: readonly ShellWord[]): string | null {
  const [folder, ...more] = words.slice(1);
  if (folder?.value == null || more.length > 0 || /^[-~+]|^$/.test(folder.value)) return null;
  return folder.value;
}

/** The part in the forms that a deny or ask rule may have in mind: the bare name, small letters, plain letters. */
export function formsOf({ words }: ShellPart): readonly (readonly ShellWord[])[] {
  const [first, ...rest] = words;
  if (first?.value == null) return [words, ...braceForms(words)];
  const written = [first.value, baseName(first.value)];
  const names = new Set([...written, ...written.map(plainly)]);
  return [...names].map((name) => [fixedWord(name), ...rest]);
}

/** Look-alikes as the letters that they look like, in small letters: some file systems take them for the same. */
function plainly(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();
}

/** `{rm,-r,x}` is the command `rm -r x`. */
function braceForms([first, ...rest]: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const braces = /^\{(.*)\}$/s.exec(first?.source ?? '')?.[1];
  return braces === undefined ? [] : [[...braces.split(',').map(fixedWord), ...rest]];
}

const interpreters =
  /^(?:python|pypy|node|deno|bun|perl|ruby|php|lua|tclsh|[gmn]?awk|osascript|pwsh|powershell|expect)[0-9.]*$/;

/** Says whether "always allow" may offer a rule for this command: not for what runs a text that it is given. */
export function mayBeOffered({ words }: ShellPart): boolean {
  const [first, second] = words;
  const name = first?.value ?? '';
  if (words.some(({ value }) => value === null) || isCarrier(name)) return false;
  return (
    !interpreters.test(baseName(name)) ||
    (second?.value != null && /^[\w./-]+$/.test(second.value) && !second.value.startsWith('-'))
  );
}
