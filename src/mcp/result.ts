/** What an MCP server answers, as content for the model. */
import type { CallToolResult, ContentBlock, EmbeddedResource, ResourceLink } from '@modelcontextprotocol/client';
import { isDeepStrictEqual } from 'node:util';
import type { ToolContent, ToolOutput } from '../tools/tool.ts';

/** Media types of images that the API takes. */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Maps a result; `redact` takes secrets out of every text. What the model cannot take is named in a note. */
export function outputOf(result: CallToolResult, redact: (text: string) => string): ToolOutput {
  const blocks = [...result.content.map(contentOf), ...structured(result)];
  const content = blocks.map((block) => (block.type === 'text' ? text(redact(block.text)) : block));
  return { content, isError: result.isError === true };
}

function text(value: string): ToolContent {
  return { type: 'text', text: value };
}

function contentOf(block: ContentBlock): ToolContent {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return media(block.mimeType, block.data, 'An image');
    case 'audio':
      return media(block.mimeType, block.data, 'A sound');
    case 'resource_link':
      return text(linkText(block));
    case 'resource':
      return resource(block);
    default:
      return text(`[A block of an unknown type was left out.]`);
  }
}

function media(type: string, data: string, what: string): ToolContent {
  if (imageTypes.has(type)) return { type: 'image', source: { type: 'base64', media_type: type, data } };
  if (type === 'application/pdf') return { type: 'document', source: { type: 'base64', media_type: type, data } };
  const bytes = Math.floor((data.length * 3) / 4);
  return text(`[${what} (${type}, ${bytes} bytes) was left out: the model cannot take it.]`);
}

function linkText({ name, uri, mimeType, description }: ResourceLink): string {
  const type = mimeType === undefined ? '' : ` (${mimeType})`;
  const more = description === undefined || description === '' ? '' : `: ${description}`;
  return `[Resource ${name}${type} at ${uri}${more}]`;
}

function resource({ resource: held }: EmbeddedResource): ToolContent {
  if ('text' in held) return text(`[Resource ${held.uri}]\n${held.text}`);
  return media(held.mimeType ?? 'application/octet-stream', held.blob, `The resource ${held.uri}`);
}

/**
 * Structured content as JSON, unless a text says the same already, as servers do for older clients: the JSON itself, or what
 * stands in it under a single name. A file that was read would otherwise come twice.
 */
function structured({ content, structuredContent }: CallToolResult): readonly ToolContent[] {
  if (structuredContent === undefined) return [];
  const members: readonly unknown[] = Object.values(structuredContent ?? {});
  const values: readonly unknown[] = members.length === 1 ? [structuredContent, ...members] : [structuredContent];
  const isSaid = content.some((block) => block.type === 'text' && values.some((value) => says(block.text, value)));
  return isSaid ? [] : [text(JSON.stringify(structuredContent))];
}

function says(said: string, value: unknown): boolean {
  if (said === value) return true;
  try {
    return isDeepStrictEqual(JSON.parse(said), value);
  } catch {
    return false;
  }
}
