// The same as `asking_python.py`, of the first version of TypeScript's SDK.

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { load } from './packages.mjs';

const { Server } = await load('@modelcontextprotocol/sdk/server/index.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js');
const types = await load('@modelcontextprotocol/sdk/types.js');

const form = (name, type) => ({ type: 'object', properties: { [name]: { type } }, required: [name] });

/** Each tool's text, by its name. */
const tools = {
    async ask({ server, related }) {
        const outcome = await server.elicitInput({ message: 'Who are you?', requestedSchema: form('name', 'string') }, related);
        return `${outcome.action}: ${JSON.stringify(outcome.content)}`;
    },
    async sample({ server, related }) {
        const messages = [{ role: 'user', content: { type: 'text', text: 'Say something.' } }];
        return (await server.createMessage({ messages, maxTokens: 20 }, related)).content.text;
    },
    async roots({ server, related }) {
        return (await server.listRoots(undefined, related)).roots.map((root) => root.uri).join(', ');
    },
    async log({ server, session, notify }) {
        // Over HTTP, what this SDK says without a request may be lost before anybody listens.
        const method = 'notifications/message';
        const log = session ? (params) => notify({ method, params }) : (params) => server.sendLoggingMessage(params);
        await log({ level: 'debug', data: 'of debug' });
        await log({ level: 'info', data: 'of info' });
        await log({ level: 'warning', data: 'of warning', logger: 'own' });
        await log({ level: 'error', data: { of: 'error' } });
        return 'logged';
    },
    async drop({ server, related }) {
        if (server.getClientCapabilities()?.elicitation) {
            const outcome = await server.elicitInput({ message: 'Drop all of it?', requestedSchema: form('sure', 'boolean') }, related);
            if (outcome.action !== 'accept' || !outcome.content.sure) return 'kept';
        }
        return 'dropped';
    },
    async told({ server }) {
        return JSON.stringify(Object.entries(server.getClientCapabilities() ?? {}).sort());
    },
};

function make() {
    const server = new Server({ name: 'asking', version: '1' }, { capabilities: { tools: {}, logging: {} } });
    server.setRequestHandler(types.ListToolsRequestSchema, () => ({
        tools: Object.keys(tools).map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } })),
    }));
    server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
        const { requestId, sessionId: session, sendNotification: notify } = extra;
        try {
            const related = { relatedRequestId: requestId };
            const text = await tools[params.name]({ server, session, notify, related });
            return { content: [{ type: 'text', text }] };
        } catch (error) {
            return { content: [{ type: 'text', text: error.message }], isError: true };
        }
    });
    return server;
}

if (process.argv.includes('--http')) {
    const sessions = new Map();
    const listening = createServer(async (request, response) => {
        let transport = sessions.get(request.headers['mcp-session-id']);
        if (!transport) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (id) => sessions.set(id, transport),
            });
            await make().connect(transport);
        }
        await transport.handleRequest(request, response);
    });
    listening.listen(0, '127.0.0.1');
} else {
    await make().connect(new StdioServerTransport());
}
