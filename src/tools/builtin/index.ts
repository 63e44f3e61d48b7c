/** The tools that every session has. */
import type { Tool } from '../tool.ts';
import { type BashOptions, createBashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

/** Options of the tools that have any. */
export interface BuiltInOptions {
  readonly bash?: BashOptions;
}

/** Bash, Edit, Glob, Grep, Read and Write. */
export function builtInTools(options: BuiltInOptions = {}): readonly Tool[] {
  return [createBashTool(options.bash), editTool, globTool, grepTool, readTool, writeTool];
}
