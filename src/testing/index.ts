/** `escapement/testing`: test your own limits, tools and hooks against the loop. */
export { validateRequest, type Violation } from '../core/wire/validate.ts';
export { adversaryEvent, type AdversaryOptions } from './adversary.ts';
export { choicesFrom, choicesOf, type Choose } from './choose.ts';
export {
  abortEverywhere,
  crashEverywhere,
  type EverywhereOptions,
  type EverywhereViolation,
} from './everywhere.ts';
export { type Exploration, explore, type ExploredFailure, type ExploreOptions } from './explore.ts';
export { formatTimeline } from './format-timeline.ts';
export { randomScenario } from './random-scenario.ts';
export { type ModelEntry, parseScenario, type Scenario, ScenarioError } from './scenario.ts';
export { scriptedFetch } from './scripted-fetch.ts';
export { type RecordedRequest, ScriptedModel, type ScriptedModelOptions } from './scripted-model.ts';
export { listen, type ScriptedServer } from './scripted-server.ts';
export { shrinkScenario } from './shrink-scenario.ts';
export { simulate } from './simulate.ts';
export type { SimulatedQueryOptions, SimulationOptions } from './simulation-options.ts';
export type { SimulationResult } from './simulation-result.ts';
export { brokenLaws } from './run-laws.ts';
export { runInVirtualTime, VirtualClock } from './virtual-clock.ts';
