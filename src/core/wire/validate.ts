import type { WireProfile } from '../config.ts';
import type { WireRequest } from './request-type.ts';
export interface Violation { readonly rule: string; readonly path: string; readonly message: string }
export interface RequestLimits { readonly contextWindow: number; readonly maxOutput: number; readonly estimate: number | null; readonly profile: WireProfile }
export function validateRequest(_request: WireRequest, _facts: RequestLimits): readonly Violation[] { return []; }
