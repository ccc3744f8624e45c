// A server of TypeScript's SDK that has a tool with a page for clients that have declared, in the
// handshake, that they show such pages (MCP Apps), and for no others: as the extension's own
// documentation has servers do.

import { load } from './packages.mjs';

const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');

const EXTENSION = 'io.modelcontextprotocol/ui';
const TYPE = 'text/html;profile=mcp-app';
const PAGE = 'ui://weather/page';

const server = new McpServer({ name: 'weather', version: '1' });
const told = (text) => ({ content: [{ type: 'text', text }] });
server.registerTool('weather', { description: 'Tells the weather.' }, () => told('sunny'));
server.registerResource('page', PAGE, { mimeType: TYPE }, () => ({
    contents: [{ uri: PAGE, mimeType: TYPE, text: '<p>sunny' }],
}));
server.server.oninitialized = () => {
    const settings = server.server.getClientCapabilities()?.extensions?.[EXTENSION];
    if (!settings?.mimeTypes?.includes(TYPE)) return;
    const about = { description: 'Shows the weather.', _meta: { ui: { resourceUri: PAGE } } };
    server.registerTool('show', about, () => told('shown'));
};
await server.connect(new StdioServerTransport());
