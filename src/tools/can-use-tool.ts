/** The permission prompt as a host provides it. */
import type { JsonObject } from '../core/json.ts';
import type { PermissionRule } from '../core/tools/context.ts';

/** What comes with a question, beside the tool and its input. */
export interface PermissionRequest {
  readonly toolUseId: string;
  /** Aborts when the call is cancelled: take the question away. */
  readonly signal: AbortSignal;
  /** One sentence: why this has to be asked. */
  readonly reason: string;
  /** The call in a few words. */
  readonly summary: string;
  /** Rules that together would let calls like this one pass; they may come back in `addedRules`. */
  readonly suggestions: readonly PermissionRule[];
  /** Name of the sub-agent that wants to make the call; left out for the query itself. */
  readonly agent?: string;
}

/** What the user says to one call. Unknown members are left out, a wrong type makes it no answer. */
export type PermissionAnswer =
  | {
      readonly behavior: 'allow';
      /** Runs with this input instead; checked like one of the model, and deny rules hold for it. */
      readonly updatedInput?: JsonObject | undefined;
      /** Hold from now on in this query ("always allow this"). */
      readonly addedRules?: readonly PermissionRule[] | undefined;
    }
  | {
      readonly behavior: 'deny';
      /** For the model: why, or what to do instead. */
      readonly message?: string | undefined;
      /** Ends the query (`aborted_tools`). Default false. */
      readonly interrupt?: boolean | undefined;
    };

/** Contract: the answer of a person, for this call and this input alone. A throw, or an answer that is none, is a denial. */
export type CanUseTool = (
  name: string,
  input: JsonObject,
  request: PermissionRequest,
) => PermissionAnswer | Promise<PermissionAnswer>;
