// A plugin in JavaScript, built by `jco componentize`.

export function greet(name) {
    if (name === '') {
        // What is thrown becomes the `err` of the WIT result.
        throw 'whom should I greet?';
    }
    const text = `Hello, ${name}, from JavaScript`;
    return { text, length: [...text].length };
}

export function sum(numbers) {
    return numbers.reduce((total, number) => total + number, 0);
}
