// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.30;

/// An ordinary ERC-20 for local chains. The deployer holds the whole supply and can issue more.
contract DemoDollar {
    string public constant name = "Demo Dollar";
    string public constant symbol = "DUSD";
    uint8 public constant decimals = 6;

    address public immutable issuer;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor() {
        issuer = msg.sender;
        issue(msg.sender, 1_000_000_000e6);
    }

    function issue(address to, uint256 value) public {
        require(msg.sender == issuer, "DUSD: only the issuer");
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "DUSD: not enough allowance");
        allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        require(to != address(0), "DUSD: to nobody");
        require(balanceOf[from] >= value, "DUSD: not enough balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
